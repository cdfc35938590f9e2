import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { turnOnAccounts } from '../../api/accounts.ts';
import { useQuery } from '../../api/query.ts';
import { useRepeat } from '../../api/repeat.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useKept } from '../../ui/kept.ts';
import { Snippet } from '../../ui/snippet.tsx';
import { codeOf, type Language, languages } from '../api/code.ts';
import { madeKeys } from '../projects/new-project.tsx';
import { sayAccountsOn } from '../users/turn-on-accounts.tsx';

/** How often the page checks for the first document. */
const lookMs = 2000;

const Step = ({
  done,
  number,
  title,
  children,
}: {
  readonly done: boolean;
  readonly number: number;
  readonly title: string;
  readonly children?: ComponentChildren;
}) => (
  <li data-done={done ? '' : undefined}>
    <span class="tick" aria-hidden="true">
      {done ? '✓' : number}
    </span>
    <div class="stack">
      <h2>{title}</h2>
      {children}
    </div>
  </li>
);

const MakeCollection = ({ projectId }: { readonly projectId: string }) => {
  const { draft, set } = useDraft({ name: 'notes' });
  const submit = async () => {
    await request('create-collection', { projectId, body: { name: draft.value.name, schema: null } });
  };
  return (
    <Form act={t.acts.create} onSubmit={submit}>
      {(wrong) => (
        <Field
          label={t.firstSteps.collectionName}
          required
          value={draft.value.name}
          onInput={set('name')}
          wrong={wrong('name')}
        />
      )}
    </Form>
  );
};

const placeholder = 'SECRET_KEY';

/** The request that sends the first document, in each language. */
const FirstRequest = ({
  project,
  collection,
}: {
  readonly project: Data<'get-project'>;
  readonly collection: string;
}) => {
  const language = useSignal<Language>('curl');
  const secretKey = madeKeys.get(project._id);
  const example = {
    ...{ id: 'create-document', area: 'data', summary: '', access: 'secretKey', query: {} },
    ...{ method: 'POST', path: '/api/data/{collectionName}', params: { collectionName: collection } },
    body: { title: 'Hello' },
  };
  const place = { api: service().api, publishableKey: project.publishableKey };
  const code = codeOf(language.value, example, place, 'secret');
  return (
    <>
      <p class="muted">{secretKey === undefined ? t.firstSteps.sendWhy : t.firstSteps.sendKnown}</p>
      <fieldset class="row choice" aria-label={t.firstSteps.language}>
        {languages.map((one) => (
          <Button
            key={one}
            kind="plain"
            aria-pressed={one === language.value}
            onClick={() => {
              language.value = one;
            }}
          >
            {t.api.languages[one]}
          </Button>
        ))}
      </fieldset>
      <Snippet code={secretKey === undefined ? code : code.replace(placeholder, secretKey)} label={t.firstSteps.send} />
    </>
  );
};

/** The first document of a collection. The page checks until it exists. */
const FirstDocument = ({
  projectId,
  collectionName,
  onFound,
}: {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onFound: () => void;
}) => {
  const list = useQuery('list-project-documents', { projectId, collectionName, query: { limit: 1 } });
  const { data } = list.value;
  const first = data && 'items' in data ? data.items[0] : undefined;
  useEffect(() => {
    if (first) onFound();
  }, [first, onFound]);
  useRepeat(!first, list.reload, lookMs);
  if (!first) return <p class="muted">{t.firstSteps.waiting}</p>;
  return (
    <>
      <p>{t.firstSteps.there}</p>
      <pre class="card whole">{JSON.stringify(first, null, 2)}</pre>
    </>
  );
};

/** The steps to the first document, each ticked when it is done. */
export const FirstSteps = ({ project }: { readonly project: Data<'get-project'> }) => {
  const { _id: projectId, publishableKey, authEnabled } = project;
  const found = useSignal(false);
  const [hasCopied, keep] = useKept(`copied-key:${projectId}`, (kept) => kept === true);
  const { data } = useQuery('list-collections', { projectId, query: { limit: 100 } }).value;
  const collection = data?.items.find(({ name }) => name !== 'users');
  const hasAccounts = authEnabled && (data?.items.some(({ name }) => name === 'users') ?? true);
  return (
    <ol class="steps measure">
      <Step number={1} done={hasCopied || found.value} title={t.firstSteps.key}>
        <p class="muted">{t.firstSteps.keyWhy}</p>
        <Snippet code={publishableKey} label={t.projects.publishableKey} onCopied={() => keep(true)} />
      </Step>
      <Step number={2} done={collection !== undefined} title={t.firstSteps.collection}>
        <p class="muted">{t.firstSteps.collectionWhy}</p>
        {data && !collection && <MakeCollection projectId={projectId} />}
        {collection && <a href={`/projects/${projectId}/documents/${collection.name}`}>{collection.name}</a>}
      </Step>
      <Step number={3} done={found.value} title={t.firstSteps.send}>
        <FirstRequest project={project} collection={collection?.name ?? 'notes'} />
      </Step>
      <Step number={4} done={found.value} title={t.firstSteps.appears}>
        {collection && (
          <FirstDocument
            projectId={projectId}
            collectionName={collection.name}
            onFound={() => {
              found.value = true;
            }}
          />
        )}
      </Step>
      <Step number={5} done={hasAccounts} title={t.firstSteps.accounts}>
        <p class="muted">{t.firstSteps.accountsWhy}</p>
        {!hasAccounts && (
          <div class="row">
            <Act
              onAct={async () => {
                const hints = await turnOnAccounts(projectId);
                if (hints.length > 0) sayAccountsOn(projectId, hints);
              }}
            >
              {t.firstSteps.accounts}
            </Act>
          </div>
        )}
        <a href={`/projects/${projectId}/settings/sign-in`}>{t.firstSteps.accountsGo}</a>
      </Step>
      <li>
        <span class="tick" aria-hidden="true">
          →
        </span>
        <div class="stack">
          <h2>{t.firstSteps.next}</h2>
          <ul class="stack links">
            {collection &&
              (['schema', 'access'] as const).map((part) => (
                <li key={part}>
                  <a href={`/projects/${projectId}/documents/${collection.name}/${part}`}>
                    {part === 'schema'
                      ? t.firstSteps.nextSchema(collection.name)
                      : t.firstSteps.nextAccess(collection.name)}
                  </a>
                </li>
              ))}
            <li>
              <a href={`/projects/${projectId}/api`}>{t.firstSteps.nextApi}</a>
            </li>
            <li>
              <a href="/docs/start/first-app" target="_blank" rel="noopener">
                {t.firstSteps.nextGuide}
              </a>
            </li>
          </ul>
        </div>
      </li>
    </ol>
  );
};
