import { useSignal } from '@preact/signals';
import { t } from '../../text/words.ts';
import { Choose } from '../../ui/choose.tsx';
import { Combobox, useTyped } from '../../ui/combobox.tsx';
import { type Match, RefSearch } from './ref-search.tsx';

interface Props {
  readonly collectionName: string;
  readonly onChoose: (id: string) => void;
}

const Choosing = ({ collectionName, onChoose }: Props) => {
  const { typed, settled } = useTyped();
  const found = useSignal<readonly Match[] | undefined>(undefined);
  return (
    <>
      <Combobox
        label={t.documents.chooseOf(collectionName)}
        hint={t.documents.chooseHint(collectionName)}
        typed={typed}
        found={found.value}
        onChoose={({ id }) => onChoose(id)}
      />
      <RefSearch
        collectionName={collectionName}
        text={settled.value}
        onFound={(matches) => {
          found.value = matches;
        }}
      />
    </>
  );
};

/** Chooses the document of a reference by searching, instead of typing its id. */
export const RefPicker = ({ collectionName, onChoose }: Props) => (
  <Choose kind="plain" title={t.documents.chooseOf(collectionName)} act={t.documents.choose} onChoose={onChoose}>
    {(choose) => <Choosing collectionName={collectionName} onChoose={choose} />}
  </Choose>
);
