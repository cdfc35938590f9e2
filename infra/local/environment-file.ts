import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isClaimed } from './lock.ts';
import { StartProblem } from './problem.ts';

const fileIn = (directory: string): string => path.join(directory, 'environment.json');

const read = async (directory: string): Promise<Readonly<Record<string, string>> | undefined> => {
  try {
    return JSON.parse(await readFile(fileIn(directory), 'utf8')) as Record<string, string>;
  } catch {
    return undefined;
  }
};

/** What functions of the running local stack are told, secrets included; none is running → `StartProblem`. */
export const runningEnvironment = async (directory: string): Promise<Readonly<Record<string, string>>> => {
  const environment = await read(directory);
  if (!environment) throw new StartProblem(`There is no local stack in ${directory}. Start one with: npm start`);
  if (!(await isClaimed(path.join(directory, 'lock')))) {
    throw new StartProblem(`The local stack in ${directory} is not running. Start it with: npm start`);
  }
  return environment;
};

/** Leaves that for `npm run doctor` and `npm run set-plan`, in a file that only its owner can read. */
export const writeEnvironment = async (directory: string, env: Readonly<Record<string, string>>): Promise<void> => {
  const draft = `${fileIn(directory)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(env, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, fileIn(directory));
};
