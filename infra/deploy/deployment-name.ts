/** Every value that is given to an option, as `--option value` or `--option=value`, in the order given. */
const valuesOf = (args: readonly string[], ...names: readonly string[]): readonly string[] =>
  args.flatMap((argument, index) => {
    if (names.includes(argument)) return args[index + 1] ?? [];
    const name = names.find((option) => option.startsWith('--') && argument.startsWith(`${option}=`));
    return name === undefined ? [] : argument.slice(name.length + 1);
  });

/**
 * The deployment that arguments of the CDK (`-c deployment=Staging`, the last one counts) or else its configuration
 * name.
 */
export const deploymentIn = (args: readonly string[], context: Readonly<Record<string, unknown>>): string => {
  const named = valuesOf(args, '-c', '--context').flatMap((pair) => /^deployment=(.+)$/.exec(pair)?.[1] ?? []);
  return named.at(-1) ?? (typeof context.deployment === 'string' ? context.deployment : 'Basalt');
};

/** The AWS profile that arguments of the CDK name; `undefined` where the environment decides. */
export const profileIn = (args: readonly string[]): string | undefined => valuesOf(args, '--profile').at(-1);
