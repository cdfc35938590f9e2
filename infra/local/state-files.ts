import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Demo, ProjectKeys } from './demo.ts';
import { StartProblem } from './problem.ts';
import type { Stack } from './stack.ts';
import { isLocked } from './state-directory.ts';

/** Parses a JSON file; `undefined` if it is missing or damaged. */
const loadJson = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
};

/** Replaces a JSON file in one step. Only its owner can read it. */
const writeJson = async (file: string, content: object): Promise<void> => {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
};

const environmentFile = (directory: string): string => path.join(directory, 'environment.json');

/**
 * Returns the environment of the functions of the running local service, secrets included. Throws `StartProblem` if no
 * service runs.
 */
export const runningEnvironment = async (directory: string): Promise<Readonly<Record<string, string>>> => {
  const environment = await loadJson<Readonly<Record<string, string>>>(environmentFile(directory));
  if (!environment) {
    throw new StartProblem(`No service was ever started with its data in ${directory}. Start one: npm start`);
  }
  if (!(await isLocked(path.join(directory, 'lock')))) {
    throw new StartProblem(`The service with its data in ${directory} is not running. Start it: npm start`);
  }
  return environment;
};

/** Stores the environment for operator commands with `--local`. */
export const writeEnvironment = (directory: string, env: Readonly<Record<string, string>>): Promise<void> =>
  writeJson(environmentFile(directory), env);

type Addresses = Pick<Stack, 'baseUrl' | 'dashboardUrl' | 'inboxUrl' | 'webhookUrl' | 'webhookSecret' | 'filesUrl'>;

/** The content of `$BASALT_DIR/dev.json`, for scripts and tests that use the local service. */
export interface DevFile extends Demo, Addresses {
  readonly dashboardToken: string;
  /** The project of the example app, if it was ever started. */
  readonly example?: ProjectKeys;
  /** The address of the example app, while it runs. */
  readonly exampleUrl?: string;
}

const devFile = (directory: string): string => path.join(directory, 'dev.json');

/** The file of the previous start; `undefined` if it is missing or damaged. */
export const loadDevFile = (directory: string): Promise<DevFile | undefined> => loadJson(devFile(directory));

/** The variables and functions that shell blocks in the guides use. `curl` ends its output with a line break. */
const shellFile = (directory: string, dev: DevFile): string => `dev() { node -p "require('${devFile(directory)}').$1"; }
json() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
curl() { command curl -w '\\n' "$@"; }
API='${dev.baseUrl}' KEY='${dev.secretKey}' PK='${dev.publishableKey}' AUTH='${dev.baseUrl}/api/userAuth'
DASH='${dev.dashboardUrl}' PROJECT='${dev.dashboardUrl}/api/projects/${dev.projectId}'
BEARER='authorization: Bearer ${dev.dashboardToken}'
# Waits for an email to an address and prints the newest one; code_to prints the code in it.
mail_to() {
  for SECOND in 1 2 3 4 5 6 7 8 9 10; do
    MAIL=$(curl -s '${dev.inboxUrl.replace(/\/inbox$/, '')}/emails' | json "data.findLast((mail) => mail.to.includes('$1'))?.text ?? ''")
    [ -n "$MAIL" ] && break
    sleep 1
  done
  echo "$MAIL"
}
code_to() { mail_to "$1" | grep -oE ': [A-Z2-9]{4}-[A-Z2-9]{4}$' | grep -oE '[A-Z2-9]{4}-[A-Z2-9]{4}' | head -1; }
`;

/** Writes `dev.json` and, for shells, `env.sh`. Only their owner can read them. */
export const writeDevFile = async (directory: string, content: DevFile): Promise<void> => {
  await writeJson(devFile(directory), content);
  await writeFile(path.join(directory, 'env.sh'), shellFile(directory, content), { mode: 0o600 });
};
