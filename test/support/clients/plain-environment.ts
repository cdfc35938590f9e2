const inherited = ['PATH', 'HOME', 'TMPDIR', 'BUNDLES', 'NODE_COMPILE_CACHE'] as const;

/**
 * The environment for a program that a test starts: this process's own, without the settings of the shared stack, which
 * would otherwise lead the program to that stack's databases.
 */
export const plainEnvironment = (): Record<string, string> =>
  Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
