/** Stands in for the driver's own logger in the bundles: it never logs, whatever the environment says. */
export const SeverityLevel = { OFF: 'off' } as const;

export const MongoLoggableComponent = {} as const;

export const MongoLogger = { resolveOptions: () => ({ componentSeverities: {} }) } as const;
