import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { refuse } from '../../scripts/refuse.ts';
import { root } from '../build/function-files.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { filledSecrets } from '../stacks/secrets.ts';

/** The CDK needs to know none of the secrets. */
const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const secret = new Set<string>(Object.values(filledSecrets).map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name)));
};

const folder = join(root, 'node_modules/aws-cdk');

/** Runs the CDK with these arguments; where it fails → `DeployProblem`. */
export const cdk = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { cwd: root, stdio: 'inherit', env: withoutSecrets(process.env) } as const;
    spawn(process.execPath, [join(folder, 'bin/cdk'), ...args], options)
      .on('error', reject)
      .on('close', (code) =>
        code === 0 ? resolve() : reject(new DeployProblem(`cdk ${args[0]} ended with ${code}; see above.`)),
      );
  });

type CdkOptions = Readonly<Record<string, { readonly alias?: string | readonly string[] }>>;

interface CdkRegistry {
  readonly globalOptions: CdkOptions;
  readonly commands: Readonly<Record<string, { readonly options?: CdkOptions }>>;
}

/** What the CDK reads of its command line itself, by which it knows nothing of an option that is misspelt. */
const optionsOf = (command: string): ReadonlySet<string> => {
  const registry = JSON.parse(readFileSync(join(folder, 'lib/cli/cli-type-registry.json'), 'utf8')) as CdkRegistry;
  const options = { ...registry.globalOptions, ...registry.commands[command]?.options };
  return new Set(Object.entries(options).flatMap(([name, { alias = [] }]) => [name, `no-${name}`, ...[alias].flat()]));
};

/**
 * Looks at arguments of which all but `own` go to a command of the CDK; an option of nobody's → the end, with the
 * usage.
 */
export const requireCdkOptions = (
  usage: string,
  command: string,
  args: readonly string[],
  own: readonly string[] = [],
): void => {
  const { tokens } = parseArgs({ args: [...args], strict: false, allowPositionals: true, tokens: true });
  const known = new Set([...own, ...optionsOf(command)]);
  const unknown = tokens.find((token) => token.kind === 'option' && !known.has(token.name));
  if (unknown?.kind === 'option') refuse(`Unknown option '${unknown.rawName}'\n${usage}`);
};
