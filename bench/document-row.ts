/** Document operations, in the requests of each contender. */
export type DocumentRow =
  | 'create'
  | 'bulk'
  | 'get'
  | 'getAlone'
  | 'list'
  | 'listMany'
  | 'filter'
  | 'where'
  | 'search'
  | 'feed'
  | 'populate'
  | 'aggregate'
  | 'update'
  | 'delete';

/** Operations without an equivalent in other products. */
export type OwnRow = 'where' | 'search' | 'feed';
