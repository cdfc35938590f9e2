import { userName } from './user-name.ts';

/** The first letters of the first two words of a name, or of the email address. */
const initials = (text: string): string =>
  text
    .split(/[\s.@_-]+/, 2)
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .toUpperCase();

/** A decoration: the name is beside it. */
export const Avatar = ({
  user,
}: {
  readonly user: { readonly _id: string; readonly email?: unknown; readonly name?: unknown };
}) => (
  <span class="avatar" aria-hidden="true">
    {initials(typeof user.name === 'string' && user.name.trim() !== '' ? user.name.trim() : userName(user))}
  </span>
);
