/** Every value that is given to an option, as `--option value` or `--option=value`, in the order given. */
const valuesOf = (args: readonly string[], ...names: readonly string[]): readonly string[] =>
  args.flatMap((argument, index) => {
    if (names.includes(argument)) return args[index + 1] ?? [];
    const name = names.find((option) => option.startsWith('--') && argument.startsWith(`${option}=`));
    return name === undefined ? [] : argument.slice(name.length + 1);
  });

/** The context that arguments of the CDK give, as `-c name=value`; the last one of a name counts. */
export const contextIn = (args: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    valuesOf(args, '-c', '--context').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    }),
  );

/**
 * The deployment that arguments of the CDK (`-c deployment=Staging`, the last one counts) or else its configuration
 * name.
 */
export const deploymentIn = (args: readonly string[], context: Readonly<Record<string, unknown>>): string => {
  const named = contextIn(args).deployment;
  return named || (typeof context.deployment === 'string' ? context.deployment : 'Basalt');
};

/** The AWS profile that arguments of the CDK name; `undefined` where the environment decides. */
export const profileIn = (args: readonly string[]): string | undefined => valuesOf(args, '--profile').at(-1);

/**
 * How many stacks are deployed side by side, where `args` do not say it. The CDK asks nobody while several are on their
 * way, so it is one at a time unless `--require-approval never` is given.
 */
export const sideBySide = (args: readonly string[]): readonly string[] =>
  valuesOf(args, '--concurrency').length === 0 && valuesOf(args, '--require-approval').at(-1) === 'never'
    ? ['--concurrency', '5']
    : [];

/** Which region and profile the arguments, or else the environment, mean. */
export const awsIn = (
  args: readonly string[],
  { AWS_REGION, AWS_DEFAULT_REGION }: NodeJS.ProcessEnv,
): { readonly region?: string; readonly profile?: string } => {
  const profile = profileIn(args);
  const region = AWS_REGION ?? AWS_DEFAULT_REGION;
  return { ...(region !== undefined && { region }), ...(profile !== undefined && { profile }) };
};
