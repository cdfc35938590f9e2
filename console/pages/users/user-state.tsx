import { users } from '../../text/users.ts';
import { Badge } from '../../ui/badge.tsx';

interface User {
  readonly disabled?: unknown;
  readonly emailVerified?: unknown;
  readonly isAnonymous?: unknown;
}

/** Verified, not verified or anonymous. */
export const Verified = ({ user: { emailVerified, isAnonymous } }: { readonly user: User }) =>
  emailVerified ? (
    <Badge kind="good">{users.verified}</Badge>
  ) : (
    <Badge>{isAnonymous ? users.anonymous : users.unverified}</Badge>
  );

/** Disabled, or else verified, not verified or anonymous. */
export const UserState = ({ user }: { readonly user: User }) =>
  user.disabled ? <Badge kind="danger">{users.disabled}</Badge> : <Verified user={user} />;
