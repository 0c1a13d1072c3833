import { damiaoLibrary } from '../interop/damiao-libraries.ts';

// The other library takes longer to install: `npm run test:interop`.
damiaoLibrary('motorbridge');
