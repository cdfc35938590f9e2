import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data, Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { List } from '../../ui/list.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { NewToken } from './new-token.tsx';

type Token = Item<'list-tokens'>;

const columns: readonly Column<Token>[] = [
  { key: 'name', label: t.projects.name, cell: ({ name }) => name },
  { key: 'scopes', label: t.tokens.scopes, cell: ({ scopes }) => <span class="mono">{scopes.join(' ')}</span> },
  { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { key: 'expires', label: t.members.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    key: 'revoke',
    label: '',
    cell: ({ _id, name }) => (
      <ConfirmedAct
        kind="plain"
        act={t.tokens.revoke}
        text={t.tokens.revokeText}
        name={name}
        onConfirm={async () => {
          await request('revoke-token', { id: _id });
        }}
      />
    ),
  },
];

export const Tokens = () => {
  const made = useSignal<Data<'create-token'> | undefined>(undefined);
  const making = useSignal(false);
  const show = (is: boolean) => () => {
    making.value = is;
  };
  return (
    <section class="card stack">
      <div class="page-head">
        <h2 class="grow">{t.tokens.title}</h2>
        <Button onClick={show(true)}>{t.tokens.new}</Button>
      </div>
      <List
        row="list-tokens"
        input={{}}
        label={t.tokens.title}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={t.tokens.none}
      />
      {made.value && (
        <>
          <p>{t.tokens.made}</p>
          <Snippet code={made.value.token} label={made.value.name} />
        </>
      )}
      {making.value && (
        <Dialog title={t.tokens.new} onClose={show(false)}>
          <NewToken
            onCancel={show(false)}
            onMade={(token) => {
              made.value = token;
              making.value = false;
            }}
          />
        </Dialog>
      )}
    </section>
  );
};
