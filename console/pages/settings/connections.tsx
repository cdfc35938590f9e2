import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

const OwnDatabase = ({ projectId }: { readonly projectId: string }) => {
  const found = useQuery('get-database', { projectId });
  const { data, problem } = found.value;
  const { draft, set, replace } = useDraft({ uri: '' });
  const connect = async () => {
    const sent = draft.peek();
    await request('connect-database', { projectId, body: sent });
    replace(sent, { uri: '' });
    say(t.connections.connected);
  };
  return (
    <section class="card stack">
      <h2>{t.connections.database}</h2>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {data?.external && (
        <div class="row">
          <Badge kind="good">{t.connections.own}</Badge>
          <span class="mono">{data.host}</span>
          <ConfirmedAct
            act={t.connections.back}
            text={t.connections.backText}
            name={data.host ?? t.connections.own}
            onConfirm={async () => {
              await request('disconnect-database', { projectId });
            }}
          />
        </div>
      )}
      {data && <p class="muted">{t.connections.letIn([...new Set(data.serverIps)].join(', '))}</p>}
      <Form guarded act={t.connections.connect} onSubmit={connect}>
        {(wrong) => (
          <Field
            label={t.connections.uri}
            type="password"
            autocomplete="off"
            required
            value={draft.value.uri}
            onInput={set('uri')}
            wrong={wrong('uri')}
          />
        )}
      </Form>
    </section>
  );
};

const OwnBucket = ({
  projectId,
  storage,
}: {
  readonly projectId: string;
  readonly storage: SettingsProps['project']['storage'];
}) => {
  const empty = { endpoint: '', region: '', bucket: '', accessKeyId: '', secretAccessKey: '', publicHost: '' };
  const { draft, set, replace } = useDraft(empty);
  const cors = useSignal<string | undefined>(undefined);
  const connect = async () => {
    const sent = draft.peek();
    const { data } = await request('connect-storage', {
      projectId,
      body: { ...sent, publicHost: sent.publicHost || null },
    });
    replace(sent, empty);
    cors.value = JSON.stringify(data.cors, null, 2);
    say(t.connections.connected);
  };
  const names = ['endpoint', 'region', 'bucket', 'accessKeyId', 'secretAccessKey', 'publicHost'] as const;
  return (
    <section class="card stack">
      <h2>{t.connections.bucket}</h2>
      {storage.external && (
        <div class="row">
          <Badge kind="good">{t.connections.own}</Badge>
          <span class="mono">{storage.endpoint}</span>
          <ConfirmedAct
            act={t.connections.back}
            text={t.connections.backText}
            name={storage.endpoint ?? t.connections.own}
            onConfirm={async () => {
              await request('disconnect-storage', { projectId });
            }}
          />
        </div>
      )}
      <Form guarded act={t.connections.connect} onSubmit={connect}>
        {(wrong) =>
          names.map((name) => (
            <Field
              key={name}
              label={name === 'bucket' ? t.connections.bucketName : t.connections[name]}
              type={name === 'secretAccessKey' ? 'password' : 'text'}
              autocomplete="off"
              required={name !== 'publicHost'}
              value={draft.value[name]}
              onInput={set(name)}
              wrong={wrong(name)}
            />
          ))
        }
      </Form>
      {cors.value && (
        <>
          <p>{t.connections.cors}</p>
          <Snippet code={cors.value} label={t.connections.cors} />
        </>
      )}
    </section>
  );
};

/** The project's own database and bucket. */
export const Connections = ({ project: { _id: projectId, storage } }: SettingsProps) => (
  <div class="stack measure">
    <OwnDatabase projectId={projectId} />
    <OwnBucket projectId={projectId} storage={storage} />
  </div>
);
