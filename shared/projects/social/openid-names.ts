/** A provider by OpenID Connect discovery: `oidc:` and a name that the developer chose. */
export type OpenIdName = `oidc:${string}`;

export const isOpenIdName = (name: string): name is OpenIdName => /^oidc:[a-z0-9-]{1,32}$/.test(name);

/** How many a project may have. */
export const maxOpenIdProviders = 5;
