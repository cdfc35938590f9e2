import { DeployProblem } from '../../settings/deploy-problem.ts';

/** Every value that is given to an option, as `--option value` or `--option=value`, in the order given. */
const valuesOf = (args: readonly string[], ...names: readonly string[]): readonly string[] =>
  args.flatMap((argument, index) => {
    if (names.includes(argument)) return args[index + 1] ?? [];
    const name = names.find((option) => option.startsWith('--') && argument.startsWith(`${option}=`));
    return name === undefined ? [] : argument.slice(name.length + 1);
  });

/** The CDK context in the arguments, given as `-c name=value`. The last value of a name wins. */
export const contextIn = (args: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    valuesOf(args, '-c', '--context').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    }),
  );

/** The deployment's name: from the arguments (`-c deployment=Staging`), or else from the CDK's configuration. */
export const deploymentIn = (args: readonly string[], context: Readonly<Record<string, unknown>>): string => {
  const named = contextIn(args).deployment;
  return named || (typeof context.deployment === 'string' ? context.deployment : 'Basalt');
};

/** The AWS profile in the arguments; `undefined` if the environment decides. */
export const profileIn = (args: readonly string[]): string | undefined => valuesOf(args, '--profile').at(-1);

/**
 * Deploys five stacks at the same time if `--require-approval never` is given and `--concurrency` is not. The CDK
 * cannot ask for approval while it deploys several.
 */
export const concurrencyOptions = (args: readonly string[]): readonly string[] =>
  valuesOf(args, '--concurrency').length === 0 && valuesOf(args, '--require-approval').at(-1) === 'never'
    ? ['--concurrency', '5']
    : [];

/** The region and profile that the arguments or the environment name. */
export const awsIn = (
  args: readonly string[],
  { AWS_REGION, AWS_DEFAULT_REGION }: NodeJS.ProcessEnv,
): { readonly region?: string; readonly profile?: string } => {
  const profile = profileIn(args);
  const region = AWS_REGION ?? AWS_DEFAULT_REGION;
  return { ...(region !== undefined && { region }), ...(profile !== undefined && { profile }) };
};

/** What to do with deployed settings that this command does not give. */
export interface SettingOptions {
  /** Keep all of them. */
  readonly keep: boolean;
  /** The names of those to reset to their defaults. */
  readonly forget: readonly string[];
}

interface DeployOptions {
  readonly options: SettingOptions;
  /** Store a MongoDB URI even if this machine cannot test it. */
  readonly untried: boolean;
  /** The arguments for the CDK. */
  readonly rest: readonly string[];
}

/** Separates our own options (`--keep`, `--forget <name>`, `--untried`) from those of the CDK. */
export const deployOptionsIn = (args: readonly string[]): DeployOptions => {
  const rest: string[] = [];
  const forget: string[] = [];
  let keep = false;
  let untried = false;
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] ?? '';
    if (argument === '--keep') keep = true;
    else if (argument === '--untried') untried = true;
    else if (argument.startsWith('--forget=')) forget.push(argument.slice('--forget='.length));
    else if (argument === '--forget') {
      const name = args[++at];
      if (name === undefined) throw new DeployProblem('--forget needs the name of a setting.');
      forget.push(name);
    } else rest.push(argument);
  }
  return { options: { keep, forget }, untried, rest };
};
