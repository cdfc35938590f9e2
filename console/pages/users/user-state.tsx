import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';

interface User {
  readonly disabled?: unknown;
  readonly emailVerified?: unknown;
  readonly isAnonymous?: unknown;
}

/** Disabled, verified, not verified or anonymous. */
export const UserState = ({ user: { disabled, emailVerified, isAnonymous } }: { readonly user: User }) =>
  disabled ? (
    <Badge kind="danger">{t.users.disabled}</Badge>
  ) : emailVerified ? (
    <Badge kind="good">{t.users.verified}</Badge>
  ) : (
    <Badge>{isAnonymous ? t.users.anonymous : t.users.unverified}</Badge>
  );
