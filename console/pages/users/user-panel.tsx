import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Copy } from '../../ui/copy.tsx';
import { useListPage } from '../../ui/list.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Time } from '../../ui/time.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { Value } from '../documents/value.tsx';
import { Avatar } from './avatar.tsx';
import { UserActs } from './user-acts.tsx';
import { ownFields } from './user-fields.ts';
import { userName } from './user-name.ts';
import { UserSessions } from './user-sessions.tsx';
import { Verified } from './user-state.tsx';
import { UserPasskeys, WaysToSignIn } from './ways-to-sign-in.tsx';

interface Props {
  readonly projectId: string;
  readonly user: Data<'get-user'>;
}

/** When the newest session was used. */
const LastSeen = ({ projectId, user: { _id: id } }: Props) => {
  const { data } = useListPage('list-user-sessions', { projectId, id }).list.value;
  if (!data) return null;
  const [newest] = data.items;
  return newest ? <Time at={newest.lastUsedAt} /> : <span class="muted">{users.never}</span>;
};

/** What the service knows of a user. */
const UserFacts = ({ projectId, user }: Props) => {
  const facts = [
    [
      t.users.email,
      <span key="email" class="row">
        <Avatar user={user} /> {typeof user.email === 'string' && user.email} <Verified user={user} />
        {user.disabled && <Badge kind="danger">{users.disabled}</Badge>}
      </span>,
    ],
    [users.lastSeen, <LastSeen key="seen" projectId={projectId} user={user} />],
    [t.users.created, <Time key="created" at={String(user.createdAt)} />],
    [
      users.ways,
      <WaysToSignIn key="ways" projectId={projectId} id={user._id} hasEmail={typeof user.email === 'string'} />,
    ],
    [
      users.id,
      <span key="id" class="mono">
        {user._id}
      </span>,
    ],
  ] as const;
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
};

/** The fields of the app. */
const OwnData = ({ user }: Pick<Props, 'user'>) => {
  const fields = ownFields([user]);
  return (
    <>
      <h2>{users.data}</h2>
      {fields.length === 0 ? (
        <p class="muted">{users.noData}</p>
      ) : (
        <dl class="facts">
          {fields.map((key) => (
            <div key={key}>
              <dt class="mono">{key}</dt>
              <dd dir="auto">
                <Value value={user[key]} reference={undefined} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};

/** One user: what is known, what the app stores, the sessions and the actions. */
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
  return (
    <Panel title={user ? userName(user) : id} head={<Copy text={id} label={users.copyId} />} onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {user && (
        <>
          <UserActs projectId={projectId} user={user} onDeleted={onClose} />
          <UserFacts projectId={projectId} user={user} />
          <OwnData user={user} />
          <UserPasskeys projectId={projectId} id={id} />
          <UserSessions projectId={projectId} id={id} />
          <details>
            <summary>{users.raw}</summary>
            <pre class="card whole">{JSON.stringify(user, null, 2)}</pre>
          </details>
        </>
      )}
    </Panel>
  );
};
