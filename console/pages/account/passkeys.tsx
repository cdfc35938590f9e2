import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { List } from '../../ui/list.tsx';
import { addPasskey, hasPasskeys, pageByName } from '../../ui/passkey-acts.ts';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

type Passkey = Item<'list-developer-passkeys'>;

const longestName = 64;

const NameField = ({
  label = t.projects.name,
  ...field
}: Pick<Parameters<typeof Field>[0], 'value' | 'onInput' | 'wrong' | 'required'> & { readonly label?: string }) => (
  <Field label={label} maxLength={longestName} autocomplete="off" {...field} />
);

const Renaming = ({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) => {
  const { draft, set } = useDraft({ name: passkey.name });
  const rename = async () => {
    await request('rename-developer-passkey', { id: passkey._id, body: draft.value });
    onClose();
  };
  return (
    <Dialog title={t.passkeys.rename} onClose={onClose}>
      <Form act={t.acts.save} cancel={t.acts.cancel} onCancel={onClose} onSubmit={rename}>
        {(wrong) => <NameField required value={draft.value.name} onInput={set('name')} wrong={wrong('name')} />}
      </Form>
    </Dialog>
  );
};

const Acts = ({ passkey }: { readonly passkey: Passkey }) => {
  const renaming = useSignal(false);
  const { _id, name } = passkey;
  return (
    <div class="row">
      <Button
        kind="plain"
        onClick={() => {
          renaming.value = true;
        }}
      >
        {t.passkeys.rename}
      </Button>
      <ConfirmedAct
        kind="plain"
        act={t.passkeys.delete}
        text={t.passkeys.deleteText}
        name={name}
        onConfirm={async () => {
          await request('delete-developer-passkey', { id: _id });
        }}
      />
      {renaming.value && (
        <Renaming
          passkey={passkey}
          onClose={() => {
            renaming.value = false;
          }}
        />
      )}
    </div>
  );
};

const columns: readonly Column<Passkey>[] = [
  {
    key: 'name',
    label: t.projects.name,
    cell: ({ name, locked }) => (
      <>
        {name} {locked && <Badge kind="danger">{t.passkeys.locked}</Badge>}
      </>
    ),
  },
  { key: 'made', label: t.passkeys.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { key: 'acts', label: '', cell: (passkey) => <Acts passkey={passkey} /> },
];

const Addition = () => {
  const { draft, set, replace } = useDraft({ name: '' });
  const add = async () => {
    const sent = draft.peek();
    await addPasskey(sent.name.trim());
    replace(sent, { name: '' });
    say(t.passkeys.added);
  };
  return (
    <Form act={t.passkeys.add} onSubmit={add}>
      {(wrong) => (
        <NameField label={t.passkeys.name} value={draft.value.name} onInput={set('name')} wrong={wrong('name')} />
      )}
    </Form>
  );
};

/** Shown if this page cannot have passkeys. */
const Elsewhere = () => {
  const page = pageByName();
  return <p>{page ? <a href={page.href}>{t.passkeys.addAt(page.host)}</a> : t.passkeys.unavailable}</p>;
};

export const Passkeys = () => (
  <section class="card stack">
    <h2>{t.passkeys.title}</h2>
    <p class="measure">{t.passkeys.why}</p>
    <List
      row="list-developer-passkeys"
      input={{}}
      label={t.passkeys.title}
      columns={columns}
      keyOf={({ _id }) => _id}
      empty={t.passkeys.none}
    />
    <div class="measure">{hasPasskeys() ? <Addition /> : <Elsewhere />}</div>
  </section>
);
