/** The token of `Authorization: Bearer <token>`; anything else counts as none. */
export const bearerToken = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
