import { damiaoFixture } from '../damiao-fixture.ts';

export default damiaoFixture('vlai-l1');
