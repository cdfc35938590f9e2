import { useSignal } from '@preact/signals';
import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import { useEvery } from '../../api/query-every.ts';
import { request } from '../../api/request.ts';
import { effects as texts } from '../../text/effects.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Sentences } from './effect-card.tsx';
import {
  type FilledTemplate,
  fillTemplate,
  type TemplateId,
  templateIds,
  unbounded,
  type Values,
} from './effect-templates.ts';
import type { TemplateSources } from './template-sources.ts';

interface Props {
  readonly projectId: string;
  readonly collection: Collection;
  readonly known: readonly Collection[];
  readonly roomFor: (made: readonly EffectInput[]) => boolean;
  readonly onAdd: (made: readonly EffectInput[]) => void;
  /** Adds an empty effect, to be written as JSON. */
  readonly onWrite: () => void;
}

/** The label of an option: a name of the project, or words. */
const optionText = (label: string): string => {
  const [kind, field = '', ...rest] = label.split(' ');
  if (kind === 'is' || kind === 'not') return texts.onlyIf(field, kind === 'not', rest.join(' '));
  if (kind === 'emailOf') return texts.toOwner(field);
  if (kind === 'doc') return texts.toField(field);
  return texts.options[label as keyof typeof texts.options] ?? label;
};

const maxLine = 44;

/** JSON with what fits in one line. */
const compactJson = (value: unknown, indent = ''): string => {
  const line = JSON.stringify(value);
  if (line.length + indent.length <= maxLine || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => compactJson(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${compactJson(each, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
};

const Questions = ({
  id,
  filled,
  onAnswer,
}: {
  readonly id: TemplateId;
  readonly filled: FilledTemplate;
  readonly onAnswer: (name: string, value: string) => void;
}) => {
  const labels: Readonly<Record<string, string>> = texts.questions[id];
  return (
    <>
      {filled.questions.map(({ name, value, options, type }) =>
        options ? (
          <Select
            key={name}
            label={labels[name] ?? name}
            value={value}
            options={options.map(([option, label]) => [option, optionText(label)])}
            onInput={(event) => onAnswer(name, event.currentTarget.value)}
          />
        ) : (
          <Field
            key={name}
            label={labels[name] ?? name}
            required
            {...(type && { type })}
            value={value}
            onInput={(event) => onAnswer(name, event.currentTarget.value)}
          />
        ),
      )}
    </>
  );
};

const TemplateDialog = ({
  projectId,
  id,
  sources,
  roomFor,
  onAdd,
  onClose,
}: Pick<Props, 'projectId' | 'roomFor' | 'onAdd'> & {
  readonly id: TemplateId;
  readonly sources: TemplateSources;
  readonly onClose: () => void;
}) => {
  const given = useSignal<Values>({});
  const filled = fillTemplate(id, sources, given.value);
  const { effects, lacks, newField } = filled;
  const values: Values = Object.fromEntries(filled.questions.map(({ name, value }) => [name, value]));
  const open = lacks === undefined ? unbounded(id, sources, values) : undefined;
  const replaced = id === 'copy' && lacks === undefined ? values.to : undefined;
  const hasRoom = roomFor(effects);
  const [title, what] = texts.templates[id];
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="muted">{what}</p>
      <Form
        begins
        act={texts.addAct}
        cancel={t.acts.cancel}
        onCancel={onClose}
        ready={lacks === undefined && hasRoom}
        onSubmit={async () => {
          onAdd(effects);
          onClose();
        }}
      >
        {() => (
          <>
            {lacks === undefined ? (
              <Questions
                id={id}
                filled={filled}
                onAnswer={(name, value) => {
                  given.value = { ...values, [name]: value };
                }}
              />
            ) : (
              <p class="note warning">
                {texts.lacks[lacks as keyof typeof texts.lacks]}{' '}
                {!newField && (lacks === 'to' || lacks === 'field') && texts.onSchema}
              </p>
            )}
            {newField && (
              <div class="row">
                <Act
                  onAct={async () => {
                    const { collection, field } = newField;
                    const body = { schema: [...(collection.schema ?? []), field] };
                    await request('update-collection', { projectId, collectionName: collection.name, body });
                    given.value = { ...values, [id === 'copy' || id === 'total' ? 'to' : 'field']: field.key };
                  }}
                >
                  {texts.addField(newField.field.key, newField.field.type, newField.collection.name)}
                </Act>
              </div>
            )}
            {id === 'counter' && lacks === undefined && <p class="note warning">{texts.counted(values.ref ?? '')}</p>}
            {open && <p class="note warning">{texts.unbounded(open)}</p>}
            {replaced && <p class="note warning">{texts.replaces(replaced, values.from ?? '')}</p>}
            {lacks === undefined && (
              <>
                {effects.map((effect, place) => (
                  <Sentences key={place} effect={effect} collection={sources.collection} known={sources.known} />
                ))}
                <Snippet label={texts.preview} code={effects.map((one) => compactJson(one)).join(',\n')} />
              </>
            )}
            {!hasRoom && <p class="note warning">{texts.full}</p>}
          </>
        )}
      </Form>
    </Dialog>
  );
};

/** Cards of templates. Each asks for its few values and shows what it adds. */
export const AddFromTemplate = ({ projectId, collection, known, roomFor, onAdd, onWrite }: Props) => {
  const chosen = useSignal<TemplateId | undefined>(undefined);
  const templates = useEvery('list-mail-templates', { projectId }).data ?? [];
  const mails = templates.map(({ key, name }) => key ?? name);
  const [byHand, byHandWhat] = texts.byHand;
  const isFull = !roomFor([{ on: 'none' }]);
  return (
    <section class="stack" aria-label={texts.add}>
      <h2>{texts.add}</h2>
      {isFull && <p class="muted">{texts.full}</p>}
      <div class="kinds">
        {templateIds.map((id) => (
          <button
            key={id}
            type="button"
            class="card kind"
            disabled={isFull}
            onClick={() => {
              chosen.value = id;
            }}
          >
            <strong>{texts.templates[id][0]}</strong>
            <span class="muted">{texts.templates[id][1]}</span>
          </button>
        ))}
        <button type="button" class="card kind" disabled={isFull} onClick={onWrite}>
          <strong>{byHand}</strong>
          <span class="muted">{byHandWhat}</span>
        </button>
      </div>
      {chosen.value && (
        <TemplateDialog
          projectId={projectId}
          id={chosen.value}
          sources={{ collection, known, mails }}
          roomFor={roomFor}
          onAdd={onAdd}
          onClose={() => {
            chosen.value = undefined;
          }}
        />
      )}
    </section>
  );
};
