import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

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

/** How a user can sign in: password, providers, second factor, and each passkey. */
export const WaysToSignIn = ({ projectId, id }: { readonly projectId: string; readonly id: string }) => {
  const found = useQuery('get-user-security', { projectId, id });
  const { data, problem } = found.value;
  const names = data
    ? [
        ...(data.password ? [t.users.password] : []),
        ...data.providers.map(({ name }) => name),
        ...(data.secondFactor ? [t.users.secondFactor(data.secondFactor.recoveryCodes)] : []),
      ]
    : [];
  return (
    <>
      <h2>{t.users.ways}</h2>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {names.length > 0 && (
        <div class="row">
          {names.map((name) => (
            <Badge key={name}>{name}</Badge>
          ))}
        </div>
      )}
      {data && data.passkeys.length > 0 && (
        <Table label={t.passkeys.title} columns={columns} items={data.passkeys} keyOf={({ _id }) => _id} />
      )}
      {data && names.length + data.passkeys.length === 0 && <p>{t.users.noWays}</p>}
    </>
  );
};
