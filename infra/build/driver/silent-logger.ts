/** Replaces the driver's logger in the bundles. It never logs. */
export const SeverityLevel = { OFF: 'off' } as const;

export const MongoLoggableComponent = {} as const;

export const MongoLogger = { resolveOptions: () => ({ componentSeverities: {} }) } as const;
