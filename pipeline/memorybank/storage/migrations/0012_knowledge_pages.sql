-- Knowledge pages: mental models that are managed, in a tree of folders.

CREATE TABLE knowledge_folder (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    id          text NOT NULL,
    name        text NOT NULL,
    parent      bigint REFERENCES knowledge_folder ON DELETE CASCADE,
    UNIQUE (bank, id),
    UNIQUE NULLS NOT DISTINCT (bank, audience_id, parent, name),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX knowledge_folder_parent ON knowledge_folder (parent);

-- Where a page stands; NULL: at the root, or no page. What is in a folder goes with it.
ALTER TABLE mental_model ADD COLUMN folder bigint REFERENCES knowledge_folder ON DELETE CASCADE;
CREATE INDEX mental_model_folder ON mental_model (folder) WHERE folder IS NOT NULL;
CREATE UNIQUE INDEX mental_model_page ON mental_model (bank, audience_id, folder, name) NULLS NOT DISTINCT WHERE is_managed;
