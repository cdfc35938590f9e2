import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { List } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

export const Suppressions = ({ projectId }: { readonly projectId: string }) => {
  const columns: readonly Column<Item<'list-suppressions'>>[] = [
    { key: 'email', label: t.users.email, cell: ({ email }) => email },
    { key: 'reason', label: t.mail.reason, cell: ({ reason }) => t.mail.states[reason] },
    { key: 'since', label: t.mail.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'delete',
      label: '',
      cell: ({ email }) => (
        <Act
          kind="plain"
          onAct={async () => {
            await request('delete-suppression', { projectId, email });
          }}
        >
          {t.mail.sendAgain}
        </Act>
      ),
    },
  ];
  return (
    <List
      row="list-suppressions"
      input={{ projectId }}
      label={t.mail.parts.suppressions}
      columns={columns}
      keyOf={({ email }) => email}
      empty={t.mail.noSuppressions}
    />
  );
};
