import { execFile } from 'node:child_process';
import path from 'node:path';
import { plainEnvironment } from './plain-environment.ts';

/** A script's output and exit code. */
export interface ScriptRun {
  readonly code: number;
  readonly text: string;
}

/** Runs `scripts/<name>.ts` without a local service. */
export const runScript = (
  name: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<ScriptRun> =>
  new Promise((resolve) => {
    const script = path.resolve(import.meta.dirname, `../../../scripts/${name}.ts`);
    const env = { ...plainEnvironment(), BASALT_DIR: '/nonexistent', ...settings };
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout + stderr }),
    );
  });
