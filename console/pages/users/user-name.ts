/** What a user goes by: the address, or the id of who has none, as anonymous ones and those of some providers. */
export const userName = ({ _id, email }: { readonly _id: string; readonly email?: unknown }): string =>
  typeof email === 'string' ? email : _id;
