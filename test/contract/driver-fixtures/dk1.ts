import { damiaoFixture } from '../damiao-fixture.ts';

export default damiaoFixture('dk1');
