import { useOwnLibrary } from '../app/own-library.ts';

useOwnLibrary();
