import { damiaoLibrary } from './damiao-libraries.ts';

damiaoLibrary('damiao-motor');
