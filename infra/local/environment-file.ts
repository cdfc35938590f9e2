import path from 'node:path';
import { isClaimed } from './lock.ts';
import { StartProblem } from './problem.ts';
import { loadState, writeState } from './state-file.ts';

const fileIn = (directory: string): string => path.join(directory, 'environment.json');

/** What functions of the running local stack are told, secrets included; none is running → `StartProblem`. */
export const runningEnvironment = async (directory: string): Promise<Readonly<Record<string, string>>> => {
  const environment = await loadState<Readonly<Record<string, string>>>(fileIn(directory));
  if (!environment) throw new StartProblem(`There is no local stack in ${directory}. Start one with: npm start`);
  if (!(await isClaimed(path.join(directory, 'lock')))) {
    throw new StartProblem(`The local stack in ${directory} is not running. Start it with: npm start`);
  }
  return environment;
};

/** Leaves that for `npm run doctor` and `npm run set-plan`, in a file that only its owner can read. */
export const writeEnvironment = (directory: string, env: Readonly<Record<string, string>>): Promise<void> =>
  writeState(fileIn(directory), env);
