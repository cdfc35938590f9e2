import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

interface Props {
  readonly projectId: string;
  readonly id: string;
}

type Passkey = Data<'get-user-security'>['passkeys'][number];

const columns: readonly Column<Passkey>[] = [
  {
    key: 'name',
    label: t.passkeys.title,
    cell: ({ name, locked }) => (
      <>
        {name} {locked && <Badge kind="danger">{t.passkeys.locked}</Badge>}
      </>
    ),
  },
  { key: 'made', label: t.passkeys.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

/** How a user can sign in: password, providers, passkeys and second factor. */
export const WaysToSignIn = ({ hasEmail, ...user }: Props & { readonly hasEmail: boolean }) => {
  const found = useQuery('get-user-security', { ...user });
  const { data: project } = useQuery('get-project', { projectId: user.projectId }).value;
  const { data, problem } = found.value;
  if (problem) return <ProblemNote problem={problem} onRetry={found.reload} />;
  if (!data || !project) return null;
  const names = [
    ...(data.password ? [users.password] : []),
    ...(hasEmail && project.signIn.emailCode ? [users.emailCode] : []),
    ...data.providers.map(({ name }) => name),
    ...(data.passkeys.length > 0 ? [users.passkeys(data.passkeys.length)] : []),
    ...(data.secondFactor ? [users.secondFactor(data.secondFactor.recoveryCodes)] : []),
  ];
  return names.length === 0 ? (
    <span class="muted">{users.noWays}</span>
  ) : (
    <span class="row">
      {names.map((name) => (
        <Badge key={name}>{name}</Badge>
      ))}
    </span>
  );
};

/** The passkeys of a user; nothing if there are none. */
export const UserPasskeys = (user: Props) => {
  const { data } = useQuery('get-user-security', { ...user }).value;
  return data && data.passkeys.length > 0 ? (
    <Table label={t.passkeys.title} columns={columns} items={data.passkeys} keyOf={({ _id }) => _id} />
  ) : null;
};
