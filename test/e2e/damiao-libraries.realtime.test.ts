import { damiaoLibrary } from '../interop/damiao-libraries.ts';

// The other one takes longer to install: `npm run test:interop`.
damiaoLibrary('motorbridge');
