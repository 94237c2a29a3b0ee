"""What the volume plugins share: claims, volumes to bind, attachments, disks, and what a round binds."""
