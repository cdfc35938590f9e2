import { useSignal } from '@preact/signals';
import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import { effectEvents } from '../../../shared/collections/effects/effect.ts';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { effects as texts } from '../../text/effects.ts';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { type ChosenUser, UserPicker } from '../access/user-picker.tsx';
import { nameOf } from '../documents/ref-address.ts';
import { RefPicker } from '../documents/ref-picker.tsx';
import { objectIn } from './effect-card.tsx';
import { type Tried, TriedEffects } from './tried-effects.tsx';

interface Props {
  readonly projectId: string;
  readonly collection: Collection;
  readonly known: readonly Collection[];
  /** The effects as they are now. Throws a `Problem` if one is no JSON object. */
  readonly effectsNow: () => readonly EffectInput[];
}

const operations = [...effectEvents, 'at'] as const;
const shownDocuments = 5;

interface Result {
  readonly tried: Tried;
  readonly effects: readonly EffectInput[];
  readonly isTimed: boolean;
}

/** The newest documents; `undefined` until they are known. */
const useDocuments = (projectId: string, { name: collectionName, schema }: Collection) => {
  const query = { limit: shownDocuments };
  const names = (schema ?? []).flatMap(({ key, type }) => (type === 'String' ? [key] : []));
  const { data } = useQuery('list-project-documents', { projectId, collectionName, query }).value;
  const items = data && 'items' in data ? data.items : undefined;
  return items?.map((document, place): readonly [string, string] => {
    const named: Readonly<Record<string, unknown>> = document;
    const id = String(named._id);
    const name = nameOf(Object.fromEntries([['_id', id], ...names.map((key) => [key, named[key]])]));
    return [id, place === 0 ? texts.tried.newest(name) : name];
  });
};

/** Shows what the effects would do with a document, without writing anything. */
export const TryEffects = ({ projectId, collection, known, effectsNow }: Props) => {
  const { draft, set } = useDraft({ operation: 'create', documentId: '', document: '{}', changes: '{}' });
  const user = useSignal<ChosenUser | undefined>(undefined);
  const picked = useSignal<string | undefined>(undefined);
  const result = useSignal<Result | undefined>(undefined);
  const found = useDocuments(projectId, collection);
  const newest = found ?? [];
  const operation = operations.find((each) => each === draft.value.operation) ?? 'create';
  const documents = [
    ...(picked.value && !newest.some(([id]) => id === picked.value) ? [[picked.value, picked.value] as const] : []),
    ...newest,
    ...(operation === 'create' ? [['json', texts.tried.typed] as const] : []),
  ];
  const documentId = documents.some(([id]) => id === draft.value.documentId)
    ? draft.value.documentId
    : (documents[0]?.[0] ?? '');
  const isTyped = documentId === 'json';
  const attempt = async () => {
    const effects = effectsNow();
    const { document, changes } = draft.value;
    const { data } = await request('try-effects', {
      projectId,
      collectionName: collection.name,
      body: {
        operation,
        effects,
        ...(user.value && operation !== 'at' && { userId: user.value.id }),
        ...(isTyped ? { document: objectIn(document, 'document', texts.tried.noObject) } : { documentId }),
        ...(operation === 'update' && { changes: objectIn(changes, 'changes', texts.tried.noObject) }),
      },
    });
    result.value = { tried: data, effects, isTimed: operation === 'at' };
  };
  return (
    <section class="card try">
      <div class="stack">
        <h2>{texts.tried.title}</h2>
        <p>{texts.tried.text}</p>
        <Form act={texts.tried.act} ready={found !== undefined && documentId !== ''} onSubmit={attempt}>
          {(wrong) => (
            <>
              <Select
                label={texts.tried.operation}
                value={operation}
                options={operations.map((each) => [each, texts.tried.operations[each]])}
                onInput={set('operation')}
              />
              {documents.length > 0 ? (
                <div class="field">
                  <Select
                    label={texts.tried.document}
                    value={documentId}
                    options={documents}
                    onInput={set('documentId')}
                    wrong={wrong('documentId')}
                  />
                  {newest.length > 0 && (
                    <div class="row">
                      <RefPicker
                        collectionName={collection.name}
                        onChoose={(id) => {
                          picked.value = id;
                          draft.value = { ...draft.value, documentId: id };
                        }}
                      />
                    </div>
                  )}
                </div>
              ) : (
                <p class="muted">{texts.tried.noDocuments}</p>
              )}
              {isTyped && (
                <TextField
                  label={texts.tried.json}
                  rows={5}
                  value={draft.value.document}
                  onInput={set('document')}
                  wrong={wrong('document')}
                />
              )}
              {operation === 'update' && (
                <TextField
                  label={texts.tried.changes}
                  hint={texts.tried.changesWhy}
                  rows={3}
                  value={draft.value.changes}
                  onInput={set('changes')}
                  wrong={wrong('changes')}
                />
              )}
              {operation === 'at' ? (
                <p class="muted">{texts.tried.byOwner}</p>
              ) : (
                <UserPicker
                  projectId={projectId}
                  user={user.value}
                  none={texts.tried.server}
                  onChoose={(chosen) => {
                    user.value = chosen;
                  }}
                />
              )}
            </>
          )}
        </Form>
      </div>
      {result.value && <TriedEffects {...result.value} collection={collection} known={known} />}
    </section>
  );
};
