import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Device } from '../../ui/device.tsx';
import { List } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

interface Props {
  readonly projectId: string;
  readonly id: string;
}

const SessionCard = ({ projectId, id, session }: Props & { readonly session: Item<'list-user-sessions'> }) => (
  <>
    <div class="card-head">
      <h3>
        <Device userAgent={session.userAgent} />
      </h3>
      <Act
        onAct={async () => {
          await request('revoke-user-session', { projectId, id, sessionId: session._id });
        }}
      >
        {t.users.endSession}
      </Act>
    </div>
    <p class="small muted">
      {t.users.lastUsed} <Time at={session.lastUsedAt} /> · <span class="mono">{session.ip}</span>
      <br />
      {users.signedIn} <Time at={session.createdAt} />
    </p>
  </>
);

/** The sessions of a user, each with a button that ends it. */
export const UserSessions = (user: Props) => (
  <>
    <div class="panel-head">
      <h2>{t.users.sessions}</h2>
      <Act
        onAct={async () => {
          await request('revoke-user-sessions', { ...user });
          say(users.sessionsEnded);
        }}
      >
        {users.endSessions}
      </Act>
    </div>
    <List
      row="list-user-sessions"
      input={{ ...user }}
      label={t.users.sessions}
      card={(session) => <SessionCard {...user} session={session} />}
      keyOf={({ _id }) => _id}
      empty={t.users.noSessions}
    />
  </>
);
