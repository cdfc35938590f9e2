import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data, Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { List } from '../../ui/list.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Token = Item<'list-tokens'>;

const columns: readonly Column<Token>[] = [
  { key: 'name', label: t.projects.name, cell: ({ name }) => name },
  { key: 'scopes', label: t.tokens.scopes, cell: ({ scopes }) => <span class="mono">{scopes.join(' ')}</span> },
  { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { key: 'expires', label: t.members.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    key: 'revoke',
    label: '',
    cell: ({ _id }) => (
      <Act
        kind="plain"
        onAct={async () => {
          await request('revoke-token', { id: _id });
        }}
      >
        {t.tokens.revoke}
      </Act>
    ),
  },
];

/** Tokens with which scripts call the dashboard API. */
export const Tokens = () => {
  const { draft, set } = useDraft({ name: '', scopes: 'documents:read', expiresInDays: '90' });
  const made = useSignal<Data<'create-token'> | undefined>(undefined);
  const create = async () => {
    const { name, scopes, expiresInDays } = draft.value;
    const wanted = scopes.split(/[\s,]+/).filter(Boolean) as Token['scopes'];
    made.value = (
      await request('create-token', { body: { name, scopes: wanted, expiresInDays: Number(expiresInDays) } })
    ).data;
  };
  return (
    <section class="stack">
      <h2>{t.tokens.title}</h2>
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
      <div class="measure">
        <Form act={t.acts.create} onSubmit={create}>
          {(wrong) => (
            <>
              <Field
                label={t.projects.name}
                required
                value={draft.value.name}
                onInput={set('name')}
                wrong={wrong('name')}
              />
              <Field
                label={t.tokens.scopes}
                hint={t.tokens.scopesWhy}
                required
                value={draft.value.scopes}
                onInput={set('scopes')}
                wrong={wrong('scopes') ?? wrong('scopes.0')}
              />
              <Field
                label={t.tokens.days}
                pattern="\d{1,3}"
                required
                value={draft.value.expiresInDays}
                onInput={set('expiresInDays')}
                wrong={wrong('expiresInDays')}
              />
            </>
          )}
        </Form>
      </div>
    </section>
  );
};
