import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data, Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Device } from '../../ui/device.tsx';
import { List } from '../../ui/list.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { EditUser } from './edit-user.tsx';
import { userName } from './user-name.ts';
import { UserState } from './user-state.tsx';
import { WaysToSignIn } from './ways-to-sign-in.tsx';

type Session = Item<'list-user-sessions'>;

const ofService: ReadonlySet<string> = new Set([
  ...['_id', 'email', 'emailVerified', 'disabled', 'isAnonymous', 'createdAt', 'updatedAt'],
]);

/** State and dates, and the fields of the app. */
const UserFacts = ({ user }: { readonly user: Data<'get-user'> }) => (
  <dl class="facts">
    <div>
      <dt>{t.users.state}</dt>
      <dd>
        <UserState user={user} />
      </dd>
    </div>
    <div>
      <dt>{t.users.created}</dt>
      <dd>
        <Time at={String(user.createdAt)} />
      </dd>
    </div>
    {Object.entries(user)
      .filter(([key]) => !ofService.has(key))
      .map(([key, value]) => (
        <div key={key}>
          <dt class="mono">{key}</dt>
          <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
  </dl>
);

/** One user: the record, the sessions and the actions. */
export const UserPanel = ({
  projectId,
  id,
  onClose,
}: {
  readonly projectId: string;
  readonly id: string;
  readonly onClose: () => void;
}) => {
  const found = useQuery('get-user', { projectId, id });
  const { data: user, problem } = found.value;
  const deleting = useSignal(false);
  const editing = useSignal(false);
  const columns: readonly Column<Session>[] = [
    { key: 'used', label: t.users.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { key: 'agent', label: t.users.device, cell: ({ userAgent }) => <Device userAgent={userAgent} /> },
    { key: 'ip', label: t.users.ip, cell: ({ ip }) => <span class="mono">{ip}</span> },
    {
      key: 'end',
      label: '',
      cell: ({ _id }) => (
        <Act
          kind="plain"
          onAct={async () => {
            await request('revoke-user-session', { projectId, id, sessionId: _id });
          }}
        >
          {t.users.endSession}
        </Act>
      ),
    },
  ];
  return (
    <Panel title={user ? userName(user) : id} head={<Copy text={id} label={t.users.copyId} />} onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {user && (
        <>
          <UserFacts user={user} />
          <div class="row">
            <Act
              onAct={async () => {
                await request('update-user', { projectId, id, body: { disabled: !user.disabled } });
              }}
            >
              {user.disabled ? t.users.enable : t.users.disable}
            </Act>
            <Button
              onClick={() => {
                editing.value = true;
              }}
            >
              {t.acts.edit}
            </Button>
            <Button
              kind="danger"
              onClick={() => {
                deleting.value = true;
              }}
            >
              {t.acts.delete}
            </Button>
          </div>
          {!user.disabled && <p class="small muted">{t.users.disableWhy}</p>}
          <details>
            <summary>{t.users.raw}</summary>
            <pre class="card whole">{JSON.stringify(user, null, 2)}</pre>
          </details>
          <WaysToSignIn projectId={projectId} id={id} />
          <h2>{t.users.sessions}</h2>
          <div class="row">
            <Act
              onAct={async () => {
                await request('revoke-user-sessions', { projectId, id });
                say(t.users.sessionsEnded);
              }}
            >
              {t.users.endSessions}
            </Act>
          </div>
          <List
            row="list-user-sessions"
            input={{ projectId, id }}
            label={t.users.sessions}
            columns={columns}
            keyOf={({ _id }) => _id}
            empty={t.users.noSessions}
          />
        </>
      )}
      {editing.value && user && (
        <EditUser
          projectId={projectId}
          user={user}
          onClose={() => {
            editing.value = false;
          }}
        />
      )}
      {deleting.value && user && (
        <Confirm
          title={t.users.deleteTitle}
          text={t.users.deleteText}
          name={userName(user)}
          label={t.acts.typeText(userName(user))}
          act={t.acts.delete}
          onConfirm={async () => {
            await request('delete-user', { projectId, id });
            onClose();
          }}
          onClose={() => {
            deleting.value = false;
          }}
        />
      )}
    </Panel>
  );
};
