import { isId } from '../../ui/places.ts';

export const withoutUser = 'publishable';

/** Whose view the address asks for: `publishable`, the id of a user, or `undefined` for the secret key. */
export const viewerOf = ({ as }: Readonly<Record<string, string>>): string | undefined =>
  as !== undefined && (as === withoutUser || isId(as)) ? as : undefined;
