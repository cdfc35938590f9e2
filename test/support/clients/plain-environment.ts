const inherited = ['PATH', 'HOME', 'TMPDIR', 'BUNDLES', 'NODE_COMPILE_CACHE'] as const;

/** This process's environment without the settings of the shared services, for programs that must not use them. */
export const plainEnvironment = (): Record<string, string> =>
  Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
