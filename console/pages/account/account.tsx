import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { developer, signedOut } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { NewPasswordField, PasswordField } from '../../ui/account-fields.tsx';
import { Act } from '../../ui/act.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Device } from '../../ui/device.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { List } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Unverified } from '../../ui/unverified.tsx';
import { Passkeys } from './passkeys.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Tokens } from './tokens.tsx';

type Session = Item<'list-developer-sessions'>;

const sessionColumns: readonly Column<Session>[] = [
  { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    key: 'agent',
    label: t.users.device,
    cell: ({ userAgent, current }) => (
      <>
        <Device userAgent={userAgent} /> {current && <Badge kind="good">{t.account.thisOne}</Badge>}
      </>
    ),
  },
  { key: 'ip', label: t.users.ip, cell: ({ ip }) => <span class="mono">{ip}</span> },
  {
    key: 'end',
    label: '',
    cell: ({ _id, current }) =>
      !current && (
        <Act
          kind="plain"
          onAct={async () => {
            await request('revoke-developer-session', { id: _id });
          }}
        >
          {t.users.endSession}
        </Act>
      ),
  },
];

const Password = () => {
  const { draft, set, replace } = useDraft({ currentPassword: '', newPassword: '' });
  const endTokens = useSignal(false);
  const change = async () => {
    const sent = draft.peek();
    await request('change-developer-password', { body: { ...sent, endTokens: endTokens.value } });
    replace(sent, { currentPassword: '', newPassword: '' });
    say(t.account.passwordChanged);
  };
  return (
    <Form act={t.account.changePassword} onSubmit={change}>
      {(wrong) => (
        <>
          <PasswordField
            label={t.account.currentPassword}
            value={draft.value.currentPassword}
            onInput={set('currentPassword')}
            wrong={wrong('currentPassword')}
          />
          <NewPasswordField
            label={t.reset.password}
            value={draft.value.newPassword}
            onInput={set('newPassword')}
            wrong={wrong('newPassword')}
          />
          <Switch
            label={t.account.endTokens}
            on={endTokens.value}
            onChange={(on) => {
              endTokens.value = on;
            }}
          />
        </>
      )}
    </Form>
  );
};

const Deletion = ({ onClose }: { readonly onClose: () => void }) => {
  const { draft, set } = useDraft({ password: '' });
  const remove = async () => {
    await request('delete-developer', { body: draft.value.password ? draft.value : {} });
    signedOut();
  };
  return (
    <Dialog title={t.account.delete} onClose={onClose}>
      <p>{t.account.deleteText}</p>
      <Form act={t.account.delete} cancel={t.acts.cancel} onCancel={onClose} onSubmit={remove}>
        {(wrong) => (
          <Field
            label={t.signIn.password}
            type="password"
            autocomplete="current-password"
            value={draft.value.password}
            onInput={set('password')}
            wrong={wrong('password')}
          />
        )}
      </Form>
    </Dialog>
  );
};

export const Account = () => {
  const { data } = useQuery('get-developer', {}).value;
  const who = data ?? developer.value;
  const deleting = useSignal(false);
  if (!who) return null;
  return (
    <Page title={t.account.title}>
      <div class="stack sections">
        <p>
          {who.email} <Badge>{who.plan}</Badge>
        </p>
        <Unverified />
        <section class="card stack">
          <h2>{t.account.changePassword}</h2>
          <div class="measure">
            <Password />
          </div>
        </section>
        <SecondFactor isOn={who.secondFactor} />
        <Passkeys />
        <section class="card stack">
          <h2>{t.users.sessions}</h2>
          <List
            row="list-developer-sessions"
            input={{}}
            label={t.users.sessions}
            columns={sessionColumns}
            keyOf={({ _id }) => _id}
            empty={t.users.noSessions}
          />
        </section>
        <Tokens />
        <section class="card stack">
          <h2>{t.account.danger}</h2>
          <p class="muted">{t.account.deleteText}</p>
          <div class="row">
            <Button
              kind="danger"
              onClick={() => {
                deleting.value = true;
              }}
            >
              {t.account.delete}
            </Button>
          </div>
        </section>
      </div>
      {deleting.value && (
        <Deletion
          onClose={() => {
            deleting.value = false;
          }}
        />
      )}
    </Page>
  );
};
