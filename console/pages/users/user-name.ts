/** A user's name: the email, or the id of users without one, such as anonymous users. */
export const userName = ({ _id, email }: { readonly _id: string; readonly email?: unknown }): string =>
  typeof email === 'string' ? email : _id;
