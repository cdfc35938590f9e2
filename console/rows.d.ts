/** The dashboard's route table as the build writes it into the page: row → method and path, nothing of the server. */
declare module 'basalt:rows' {
  const rows: Readonly<Record<string, readonly [method: string, path: string]>>;

  export { rows };
}

/** The public API's routes with an example of each, for the page that shows them in the project's own names. */
declare module 'basalt:api' {
  export interface ApiExample {
    /** The name of its row. */
    readonly id: string;
    readonly area: string;
    readonly summary: string;
    readonly method: string;
    readonly path: string;
    readonly access: string;
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly body: unknown;
  }
  const examples: readonly ApiExample[];

  export { examples };
}

/** What identity providers are called, by their names in settings. */
declare module 'basalt:providers' {
  const titles: Readonly<Record<string, string>>;

  export { titles };
}
