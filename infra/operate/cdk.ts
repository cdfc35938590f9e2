import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exitWithUsage } from '../../scripts/read-arguments.ts';
import { root } from '../build/function-files.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { filledSecrets } from '../stacks/secrets.ts';

const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const secret = new Set<string>(Object.values(filledSecrets).map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name)));
};

const folder = join(root, 'node_modules/aws-cdk');

/** Runs the CDK, without the secrets in its environment. Throws `DeployProblem` if it fails. */
export const cdk = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { cwd: root, stdio: 'inherit', env: withoutSecrets(process.env) } as const;
    spawn(process.execPath, [join(folder, 'bin/cdk'), ...args], options)
      .on('error', reject)
      .on('close', (code) =>
        code === 0 ? resolve() : reject(new DeployProblem(`cdk ${args[0]} failed (exit code ${code}); see above.`)),
      );
  });

type CdkOptions = Readonly<Record<string, { readonly alias?: string | readonly string[] }>>;

interface CdkRegistry {
  readonly globalOptions: CdkOptions;
  readonly commands: Readonly<Record<string, { readonly options?: CdkOptions }>>;
}

/** The options of a CDK command, from the CDK's own list. The CDK itself silently ignores misspelt options. */
const optionsOf = (command: string): ReadonlySet<string> => {
  const registry = JSON.parse(readFileSync(join(folder, 'lib/cli/cli-type-registry.json'), 'utf8')) as CdkRegistry;
  const options = { ...registry.globalOptions, ...registry.commands[command]?.options };
  return new Set(Object.entries(options).flatMap(([name, { alias = [] }]) => [name, `no-${name}`, ...[alias].flat()]));
};

/** Ends the process with the usage if an option is neither in `own` nor one of the CDK command. */
export const requireCdkOptions = (
  usage: string,
  command: string,
  args: readonly string[],
  own: readonly string[] = [],
): void => {
  const { tokens } = parseArgs({ args: [...args], strict: false, allowPositionals: true, tokens: true });
  const known = new Set([...own, ...optionsOf(command)]);
  const unknown = tokens.find((token) => token.kind === 'option' && !known.has(token.name));
  if (unknown?.kind === 'option') exitWithUsage(`Unknown option '${unknown.rawName}'\n${usage}`);
};
