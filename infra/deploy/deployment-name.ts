/** The deployment that arguments of the CDK (`-c deployment=Staging`) or else its configuration name. */
export const deploymentIn = (args: readonly string[], context: Readonly<Record<string, unknown>>): string => {
  const given = args.flatMap((argument, index) => {
    if (argument === '-c' || argument === '--context') return args[index + 1] ?? [];
    return argument.startsWith('--context=') ? argument.slice('--context='.length) : [];
  });
  const [named] = given.flatMap((pair) => /^deployment=(.+)$/.exec(pair)?.[1] ?? []);
  return named ?? (typeof context.deployment === 'string' ? context.deployment : 'Basalt');
};
