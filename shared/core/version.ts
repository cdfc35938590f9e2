import manifest from '../../package.json' with { type: 'json' };

/** The version of Basalt. */
export const version: string = manifest.version;
