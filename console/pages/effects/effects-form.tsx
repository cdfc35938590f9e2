import { useMemo } from 'preact/hooks';
import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import { Problem } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { effects as texts } from '../../text/effects.ts';
import { t } from '../../text/words.ts';
import { Empty } from '../../ui/empty.tsx';
import { Form } from '../../ui/form.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { useSavedDraft } from '../../ui/saved-draft.ts';
import { say } from '../../ui/toast.tsx';
import type { CollectionSettingsProps } from '../documents/collection-settings.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { addEffects } from './add-effects.ts';
import { AddFromTemplate } from './add-from-template.tsx';
import { EffectCard, type EffectItem, objectIn } from './effect-card.tsx';
import { TryEffects } from './try-effects.tsx';

interface Props extends Omit<CollectionSettingsProps, 'collection'> {
  readonly collection: Collection;
}

const maxEffects = 5;

/** The effects as they would be saved. Throws a `Problem` for one that is no JSON object. */
const effectsIn = (items: readonly EffectItem[]): readonly EffectInput[] =>
  items.map(({ effect, text }, place) => (text === undefined ? effect : objectIn(text, `effects.${place}`)));

/** Rows of `before` at the same place keep their ids. */
const itemsOf = (effects: Collection['effects'] = [], before: readonly EffectItem[] = []): readonly EffectItem[] =>
  effects.map((effect, place) => ({ id: before[place]?.id ?? place, effect }));

const newId = (items: readonly EffectItem[]): number => Math.max(-1, ...items.map(({ id }) => id)) + 1;

const textOf = (items: readonly EffectItem[]): string =>
  JSON.stringify(items.map(({ effect, text }) => [effect, text]));

/** The list of effects with templates, and a dry run of the list as it is now. */
export const EffectsForm = ({ projectId, collection, known, hints, onSaved }: Props) => {
  const { effects } = collection;
  const {
    draft: items,
    isChanged,
    save: saveItems,
  } = useSavedDraft(
    useMemo(() => itemsOf(effects), [effects]),
    { textOf },
  );
  const show = (next: readonly EffectInput[]) => {
    const before = items.peek();
    const first = newId(before);
    items.value = next.map(
      (effect, place) => before.find((item) => item.effect === effect) ?? { id: first + place, effect },
    );
  };
  const shown = items.value.map(({ effect }) => effect);
  const save = async () => {
    await saveItems(async (sent) => {
      const { data, hints: said = [] } = await request('update-collection', {
        projectId,
        collectionName: collection.name,
        body: { effects: effectsIn(sent) },
      });
      onSaved(said);
      return itemsOf(collectionOf(data).effects, sent);
    });
    say(texts.saved);
  };
  const change = (id: number, changes: Partial<EffectItem>) => {
    items.value = items.peek().map((item) => (item.id === id ? { ...item, ...changes } : item));
  };
  const moveUp = (place: number) => {
    const next = [...items.peek()];
    items.value = next.toSpliced(place - 1, 2, ...next.slice(place - 1, place + 1).toReversed());
  };
  const elsewhere = hints.filter((hint) => !/^effects\.\d/.test(hint));
  return (
    <div class="stack effects">
      <p class="measure">{texts.text}</p>
      <KeptDraft
        draft={items.value}
        isTouched={isChanged}
        onRestore={(earlier) => {
          items.value = earlier;
        }}
      />
      <Form guarded touched={isChanged} ready={isChanged} act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            {items.value.length === 0 && <Empty text={texts.none} />}
            <ol class="stack effect-list">
              {items.value.map((item, place) => (
                <EffectCard
                  key={item.id}
                  number={place + 1}
                  item={item}
                  collection={collection}
                  known={known}
                  wrong={wrong(`effects.${place}`)}
                  hints={isChanged ? [] : hints.filter((hint) => hint.startsWith(`effects.${place}.`))}
                  onChange={(changes) => change(item.id, changes)}
                  onUp={place > 0 ? () => moveUp(place) : undefined}
                  onRemove={() => {
                    items.value = items.peek().filter(({ id }) => id !== item.id);
                  }}
                />
              ))}
            </ol>
            {elsewhere.map((hint) => (
              <p key={hint} class="note warning">
                {hint}
              </p>
            ))}
            {isChanged && <p class="muted">{texts.unsaved}</p>}
          </>
        )}
      </Form>
      <AddFromTemplate
        projectId={projectId}
        collection={collection}
        known={known}
        roomFor={(made) => addEffects(shown, made).length <= maxEffects}
        onAdd={(made) => show(addEffects(shown, made))}
        onWrite={() => {
          const effect = { on: 'create', set: {} };
          const now = items.peek();
          items.value = [...now, { id: newId(now), effect, text: JSON.stringify(effect, null, 2) }];
        }}
      />
      <TryEffects
        projectId={projectId}
        collection={collection}
        known={known}
        effectsNow={() => {
          try {
            return effectsIn(items.peek());
          } catch (error) {
            throw error instanceof Problem ? new Problem(error.status, { message: texts.noObject }) : error;
          }
        }}
      />
    </div>
  );
};
