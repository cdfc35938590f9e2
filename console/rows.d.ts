/** The dashboard's route table, written into the page by the build: route → method and path. */
declare module 'basalt:rows' {
  const rows: Readonly<Record<string, readonly [method: string, path: string]>>;

  export { rows };
}

/** The public API's routes with examples, for the API page. */
declare module 'basalt:api' {
  export interface ApiExample {
    readonly id: string;
    readonly area: string;
    readonly summary: string;
    readonly method: string;
    readonly path: string;
    readonly access: string;
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly returns: 'json' | 'text' | 'redirect';
  }
  const examples: readonly ApiExample[];

  export { examples };
}

/** The names of identity providers, by their names in settings. */
declare module 'basalt:providers' {
  const titles: Readonly<Record<string, string>>;

  export { titles };
}
