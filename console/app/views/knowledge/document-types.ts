export interface StoredDocument {
  id: string;
  url: string;
  domain: string;
  title: string | null;
  language: string;
  source: string;
  collection_id: string | null;
  tags: { id: string; name: string }[];
  crawled_at: string;
  deleted_at: string | null;
}

export interface Chunk {
  id: string;
  chunk_index: number;
  content: string;
  token_count: number;
  section_header: string | null;
  embedding_model: string | null;
}

export interface Section {
  position: number;
  heading: string | null;
  level: number;
}
