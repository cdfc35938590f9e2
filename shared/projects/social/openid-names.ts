/** A provider by OpenID Connect discovery: `oidc:` and a name that the developer chose. */
export type OpenIdName = `oidc:${string}`;

export const openIdNameShape = /^oidc:[a-z0-9-]{1,32}$/;

export const isOpenIdName = (name: string): name is OpenIdName => openIdNameShape.test(name);

/** How many a project may have. */
export const maxOpenIdProviders = 5;
