import { loadModel, testRobot } from 'farhand/testing';
import plugin from './index.js';

// A robot with a controller also passes a fixture here: how to start a device that answers like it.
testRobot('NAME', plugin, loadModel(`${import.meta.dirname}/robot.yaml`));
