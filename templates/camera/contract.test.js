import { testCamera } from 'farhand/testing';
import plugin from './index.js';

testCamera('NAME', plugin);
