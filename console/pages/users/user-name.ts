/** A user's name: the email, or the id if there is none, as for anonymous users and some providers. */
export const userName = ({ _id, email }: { readonly _id: string; readonly email?: unknown }): string =>
  typeof email === 'string' ? email : _id;
